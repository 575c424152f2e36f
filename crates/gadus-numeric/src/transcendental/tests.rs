//! Facts about transcendental.
