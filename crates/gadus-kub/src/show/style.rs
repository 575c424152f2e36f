//! How the page looks: light and dark by the reader's choice, from 390 pixels on.

/// Colours have a contrast of 4.5 at least to what they stand on, in both.
pub(super) const SHEET: &str = "\
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --kernel: #0a5cad; --user: #9a4a00; --poor: #a40e26; --good: #7a4d00; --very-good: #1a6333; --excellent: #0a5cad; }
@media (prefers-color-scheme: dark) { :root { --back: #0f1419; --text: #e6edf3; --soft: #9da7b1; --line: #3a424c;
  --kernel: #6cb6ff; --user: #f0a45d; --poor: #ff8a8f; --good: #e3b341; --very-good: #6fdd8b; --excellent: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 16px; overflow-wrap: break-word; }
h1 { font-size: 26px; line-height: 1.2; } h2 { margin-top: 40px; border-bottom: 1px solid var(--line); }
h3 { margin: 28px 0 6px; font-size: 17px; }
table { border-collapse: collapse; width: 100%; margin: 10px 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
.poor, .good, .very-good, .excellent { font-weight: 700; }
.poor { color: var(--poor); } .good { color: var(--good); }
.very-good { color: var(--very-good); } .excellent { color: var(--excellent); }
.bars { margin: 8px 0; font-size: 14px; }
.bar { display: grid; grid-template-columns: 240px 1fr 130px; gap: 8px; align-items: center; min-height: 24px; }
.track { position: relative; height: 14px; border-left: 1px solid var(--line); }
.fill { position: absolute; left: 0; top: 2px; height: 10px; border-radius: 2px; }
.kernel .fill { background: var(--kernel); } .user .fill { background: var(--user); }
.range { position: absolute; top: 0; height: 14px; border: solid var(--text); border-width: 0 2px; min-width: 2px; }
.value { text-align: right; }
.scale { color: var(--soft); font-size: 13px; }
.curves { display: flex; flex-wrap: wrap; gap: 16px; }
.curves figure { margin: 0; flex: 1 1 340px; max-width: 570px; }
svg { width: 100%; height: auto; } svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .soft { fill: var(--soft); }
@media (max-width: 760px) {
  main { overflow-wrap: anywhere; }
  .bar { grid-template-columns: 1fr 130px; } .track { grid-column: 1 / 3; grid-row: 2; }
  table, tbody, tr, td { display: block; width: 100%; } thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: 6px 0; } td { border: 0; padding: 1px 0; }
  td:empty { display: none; }
  td[data-name]:not([data-name=\"\"])::before { content: attr(data-name) \": \"; color: var(--soft); font-weight: 400; }
}
";
