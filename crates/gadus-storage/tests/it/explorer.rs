//! Exhaustive search of a model: every state that any order of its steps leads to.
//!
//! - Breadth first, so that a counter-example is one of the shortest.
//! - States are known by 64 bits of a hash: with ten million of them, the chance that two are taken
//!   for one is below one in 300,000.
//! - What is checked of each state is the model's business; a failure comes with the way there.

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Something that goes from state to state by steps.
pub(crate) trait Model {
    type State: Clone + Hash + Debug;
    type Step: Copy + Debug;

    fn start(&self) -> Self::State;

    /// The steps that may come next.
    fn steps(&self, state: &Self::State, into: &mut Vec<Self::Step>);

    /// What a step makes of a state.
    fn take(&self, state: &Self::State, step: Self::Step) -> Self::State;

    /// What is wrong with a state.
    fn wrong(&self, state: &Self::State) -> Option<String>;
}

/// How far a search came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) steps: usize,
}

/// How a wrong state is reached.
#[derive(Debug)]
pub(crate) struct CounterExample {
    pub(crate) wrong: String,
    pub(crate) way: Vec<String>,
}

impl std::fmt::Display for CounterExample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}, after:", self.wrong)?;
        self.way.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// Looks at every state; `seen` is called with each that is right.
pub(crate) fn explore<M: Model>(
    model: &M,
    mut seen: impl FnMut(&M::State),
) -> Result<Explored, Box<CounterExample>> {
    let start = model.start();
    let mut before: HashMap<u64, u64, BuildHasherDefault<Known>> = HashMap::default();
    before.insert(hash(&start), 0);
    let mut queue = VecDeque::from([(hash(&start), start)]);
    let (mut next, mut taken) = (Vec::new(), 0);
    while let Some((from, state)) = queue.pop_front() {
        if let Some(wrong) = model.wrong(&state) {
            let way = way_to(model, &before, from);
            return Err(Box::new(CounterExample { wrong, way }));
        }
        seen(&state);
        next.clear();
        model.steps(&state, &mut next);
        taken += next.len();
        for &step in &next {
            let state = model.take(&state, step);
            let to = hash(&state);
            before.entry(to).or_insert_with(|| {
                queue.push_back((to, state));
                from
            });
        }
    }
    Ok(Explored { states: before.len(), steps: taken })
}

/// Finds the steps again that led to a state.
fn way_to<M: Model>(
    model: &M,
    before: &HashMap<u64, u64, BuildHasherDefault<Known>>,
    to: u64,
) -> Vec<String> {
    let mut hashes = vec![to];
    while let Some(&from) = before.get(&hashes[hashes.len() - 1]).filter(|from| **from != 0) {
        hashes.push(from);
    }
    let (mut state, mut way, mut steps) = (model.start(), Vec::new(), Vec::new());
    for wanted in hashes.into_iter().rev().skip(1) {
        steps.clear();
        model.steps(&state, &mut steps);
        let mut taken = steps.iter().map(|&step| (step, model.take(&state, step)));
        let (step, next) = taken
            .find(|(_, next)| hash(next) == wanted)
            .expect("a state is reached by a step from the one before");
        way.push(format!("{step:?}"));
        state = next;
    }
    way.push(format!("{state:?}"));
    way
}

fn hash(state: &impl Hash) -> u64 {
    let mut mixing = Mixing(0);
    state.hash(&mut mixing);
    // Zero is before the start.
    mixing.finish().max(1)
}

/// Mixes words by wide multiplications: cheap where nothing is optimized.
#[derive(Debug)]
struct Mixing(u64);

impl Mixing {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
        let [low, high] = [wide, wide >> 64].map(|half| half & u128::from(u64::MAX));
        let [low, high] = [low, high].map(|half| u64::try_from(half).expect("a half"));
        self.0 = low ^ high.rotate_left(23);
    }
}

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        let mut last = Self(self.0);
        last.mix(0x2545_F491_4F6C_DD1D);
        last.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.chunks_exact(8);
        for piece in &mut pieces {
            self.mix(u64::from_le_bytes(piece.try_into().expect("chunks of eight")));
        }
        pieces.remainder().iter().for_each(|byte| self.mix(u64::from(*byte)));
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }
}

/// What is a hash already.
#[derive(Debug, Default)]
struct Known(u64);

impl Hasher for Known {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are words");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
