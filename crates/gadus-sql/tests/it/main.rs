//! SQL through the public face: one binary, because each would compile DataFusion's futures again.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail this way, its helpers too
#![allow(clippy::duplicate_mod)] // the same suites in several ways

mod kept;
mod support;

/// The suites, over one database in memory or over instances that share a file: each statement is
/// another's turn, and no test can tell.
macro_rules! suites {
    ($($way:ident: $instances:expr, $scope:ident;)*) => {$(
        #[path = "suites"]
        mod $way {
            fn shell() -> crate::support::Shell {
                crate::support::Shell::of($instances, gadus_engine::CacheScope::$scope)
            }

            mod modify;
            mod queries;
            mod transactions;
        }
    )*};
}

suites! {
    one_instance: 1, Process;
    one_instance_with_private_caches: 1, Connection;
    two_instances: 2, Process;
    eight_instances: 8, Process;
    eight_instances_with_private_caches: 8, Connection;
}
