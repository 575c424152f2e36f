//! Partners answer, whatever rings.

use super::bells::{
    Bell, ConditionBell, EventBell, FutexBell, PipeBell, SharedBell, SpinBell, YieldBell,
};
use super::partner::{Class, Partner, PartnerProcess};
use super::tasks::{PolledTasks, TokioTasks};
use gadus_machine::this_cpu;

fn answers<B: Bell>(there: B, back: B) {
    let partner = Partner::start(there, back, this_cpu(), Class::Usual).unwrap();
    (0..100).for_each(|_| partner.round_trip());
}

#[test]
fn a_partner_answers_whatever_rings() {
    answers(FutexBell::default(), FutexBell::default());
    answers(ConditionBell::default(), ConditionBell::default());
    answers(PipeBell::create().unwrap(), PipeBell::create().unwrap());
    answers(EventBell::create().unwrap(), EventBell::create().unwrap());
    answers(YieldBell::default(), YieldBell::default());
    let (there, back) = SharedBell::pair().unwrap();
    answers(there, back);
    let bell = SpinBell::default();
    bell.ring();
    bell.wait();
}

#[test]
fn a_partner_in_another_process_answers() {
    let partner = PartnerProcess::start(this_cpu()).unwrap();
    (0..100).for_each(|_| partner.round_trip());
}

#[test]
fn a_partner_that_cannot_take_part_says_so() {
    let bells = (FutexBell::default(), FutexBell::default());
    let error = Partner::start(bells.0, bells.1, 100_000, Class::Usual).err();
    assert!(error.is_some_and(|error| error.to_string().contains("processors")));
}

#[test]
fn tasks_give_way_to_each_other() {
    PolledTasks::create().switch(1001).unwrap();
    TokioTasks::create().unwrap().switch(1001).unwrap();
}
