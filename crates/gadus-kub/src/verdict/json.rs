//! A verdict as lines of JSON, behind those of its report.

use super::{Advice, Criterion, Row, Suitability, Verdict};
use serde_json::{Value, json};

impl Verdict {
    /// One object for each line.
    #[must_use]
    pub fn to_json_lines(&self) -> Vec<Value> {
        let rows = self.rows.iter().map(Row::to_json);
        let crossovers = self.crossovers.iter();
        let crossovers = crossovers.map(|text| json!({ "kind": "crossover", "text": text }));
        let settings = self.settings.iter().map(Advice::to_json);
        rows.chain(crossovers).chain(settings).collect()
    }
}

impl Row {
    fn to_json(&self) -> Value {
        json!({
            "kind": "verdict", "domain": self.domain.word(),
            "suitability": self.suitability.map(Suitability::word), "paper": self.paper.word(),
            "criteria": self.criteria.iter().map(Criterion::to_json).collect::<Vec<_>>(),
            "bound": self.bound.as_ref().map(|(what, _)| what), "why": self.why,
            "database": self.database, "kernel": self.kernel, "missing": self.missing,
        })
    }
}

impl Criterion {
    fn to_json(&self) -> Value {
        json!({
            "what": self.what, "ratio": self.ratio, "interval": self.interval.map(|(a, b)| [a, b]),
            "limits": self.limits, "grade": self.grade.word(), "certain": self.is_certain,
        })
    }
}

impl Advice {
    fn to_json(&self) -> Value {
        json!({
            "kind": "setting", "product": self.product, "versions": self.versions,
            "setting": self.setting, "known": self.is_known, "why": self.why,
        })
    }
}
