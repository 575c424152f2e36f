//! The same machine is known again.

use super::*;

#[test]
fn the_same_machine_has_the_same_key_and_another_kernel_has_not() {
    let here = Identity::of_this_machine(Path::new("/proc"));
    assert_eq!(here.key(), Identity::of_this_machine(Path::new("/proc")).key());
    assert_eq!(here.file_system, "proc");
    assert!(here.processors > 0 && here.kernel != "unknown");
    let newer = Identity { kernel: "99.1".to_owned(), ..here.clone() };
    assert_ne!(newer.key(), here.key());
    assert_eq!(here.differences(&newer), [("kernel", here.kernel.clone(), "99.1".to_owned())]);
}
