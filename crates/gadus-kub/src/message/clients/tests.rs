//! Nobody is forgotten.

use super::*;

#[test]
fn all_clients_are_served_on_every_way() {
    let cpu = gadus_machine::this_cpu();
    for way in [Way::SharedMemory, Way::UnixStream, Way::Pipes, Way::Tcp] {
        for clients in [1, 5] {
            Server::start(way, clients, cpu).unwrap().serve(200).unwrap();
        }
    }
}
