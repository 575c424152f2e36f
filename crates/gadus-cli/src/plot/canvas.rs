//! A canvas of characters: eight dots of Braille in each, or one mark.

use super::Page;

/// The bits of Braille's dots by row and column of a character.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

const MARKS: [char; 6] = ['●', '▲', '■', '◆', '○', '△'];
const MARKS_ASCII: [char; 6] = ['*', '+', 'o', 'x', '#', '@'];

/// Colours that differ on dark and on light terminals.
const COLORS: [u8; 6] = [34, 31, 32, 35, 36, 33];

/// Characters in which series are drawn.
pub(super) struct Canvas {
    page: Page,
    columns: usize,
    rows: usize,
    /// Whether each character has eight dots: where one series is drawn, or they have colours.
    has_dots: bool,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    series: Option<usize>,
}

impl Canvas {
    pub(super) fn new(page: Page, columns: usize, rows: usize, series: usize) -> Self {
        let has_dots = page.is_unicode && (series <= 1 || page.has_colors);
        Self { page, columns, rows, has_dots, cells: vec![Cell::default(); columns * rows] }
    }

    /// What a series is drawn with, for the legend.
    pub(super) fn mark(&self, series: usize) -> String {
        let mark = match (self.has_dots, self.page.is_unicode) {
            (true, _) => '⠶',
            (false, true) => MARKS[series % MARKS.len()],
            (false, false) => MARKS_ASCII[series % MARKS_ASCII.len()],
        };
        painted(self.page, series, mark.to_string())
    }

    /// Draws a point; both coordinates are from 0 to 1, from the left and from below.
    pub(super) fn point(&mut self, series: usize, (x, y): (f64, f64)) {
        let (column, row) = self.place((x, y));
        self.set(series, column, row);
    }

    /// Draws a line (Bresenham).
    pub(super) fn line(&mut self, series: usize, from: (f64, f64), to: (f64, f64)) {
        let ((mut x, mut y), (to_x, to_y)) = (self.place(from), self.place(to));
        let (wide, high) = (to_x.abs_diff(x).cast_signed(), -to_y.abs_diff(y).cast_signed());
        let mut error = wide + high;
        loop {
            self.set(series, x, y);
            if (x, y) == (to_x, to_y) {
                return;
            }
            let twice = 2 * error;
            if twice >= high {
                error += high;
                x = if x < to_x { x + 1 } else { x - 1 };
            }
            if twice <= wide {
                error += wide;
                y = if y < to_y { y + 1 } else { y - 1 };
            }
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns).map(|cells| {
            let shown = cells.iter().map(|cell| self.shown(*cell)).collect::<String>();
            shown.trim_end().to_owned()
        })
    }

    fn shown(&self, cell: Cell) -> String {
        match cell.series {
            None => " ".to_owned(),
            Some(series) if self.has_dots => {
                let dots = char::from_u32(0x2800 + u32::from(cell.dots)).unwrap_or(' ');
                painted(self.page, series, dots.to_string())
            }
            Some(series) => self.mark(series),
        }
    }

    fn dots(&self) -> (usize, usize) {
        if self.has_dots { (2, 4) } else { (1, 1) }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a terminal has some thousands of dots"
    )]
    fn place(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let (wide, high) = self.dots();
        let of = |part: f64, dots: usize| (part * (dots.max(1) - 1) as f64).round() as usize;
        let (columns, rows) = (self.columns * wide, self.rows * high);
        (of(x, columns), rows.max(1) - 1 - of(y, rows))
    }

    fn set(&mut self, series: usize, column: usize, row: usize) {
        let (wide, high) = self.dots();
        let place = row / high * self.columns + column / wide;
        if let Some(cell) = self.cells.get_mut(place) {
            cell.dots |= DOTS[row % high][column % wide];
            cell.series = Some(series);
        }
    }
}

/// A text in the colour of a series.
pub(super) fn painted(page: Page, series: usize, text: String) -> String {
    if !page.has_colors || text.is_empty() {
        return text;
    }
    format!("\x1b[{}m{text}\x1b[0m", COLORS[series % COLORS.len()])
}
