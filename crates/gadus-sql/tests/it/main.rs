//! SQL through the public face: one binary, because each would compile DataFusion's futures again.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too
#![allow(clippy::duplicate_mod)] // the same suites in several ways

mod arrays;
mod beside;
mod bound_changes;
mod bound_queries;
mod chains;
mod complex;
mod conditions;
mod definitions;
mod diagnosis;
mod documents;
mod dynamic;
mod explain;
mod in_order;
mod kept;
mod kept_tables;
mod knowledge;
mod limits;
mod modifying;
mod not_in;
mod on_conflict;
mod planned;
mod returning;
mod scanning;
mod support;
mod times;
mod zeros;

/// The suites, over one database in memory or over instances that share a file: each statement is
/// another's turn, and no test can tell.
macro_rules! suites {
    ($($way:ident: $instances:expr, $scope:ident, $sharing:ident;)*) => {$(
        #[path = "suites"]
        mod $way {
            fn shell() -> crate::support::Shell {
                let shell = crate::support::Shell::of($instances, gadus_engine::CacheScope::$scope);
                shell.run(concat!("SET gadus.sharing = ", stringify!($sharing)));
                shell
            }

            mod modify;
            mod queries;
            mod transactions;
        }
    )*};
}

suites! {
    one_instance: 1, Process, never;
    one_instance_with_private_caches: 1, Connection, auto;
    one_instance_with_shared_scans: 1, Process, always;
    two_instances: 2, Process, auto;
    two_instances_with_shared_scans: 2, Process, always;
    eight_instances: 8, Process, auto;
    eight_instances_with_private_caches: 8, Connection, auto;
}
