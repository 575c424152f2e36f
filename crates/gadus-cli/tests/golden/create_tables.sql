CREATE TABLE bookings (
    record_locator TEXT NOT NULL,
    booked_at TIMESTAMP NOT NULL,
    carrier TEXT NOT NULL,
    flight_number SMALLINT NOT NULL,
    origin TEXT NOT NULL,
    destination TEXT NOT NULL,
    departure_date DATE NOT NULL,
    departure_minute SMALLINT NOT NULL,
    arrival_minute SMALLINT NOT NULL,
    cabin TEXT NOT NULL,
    booking_class TEXT NOT NULL,
    passenger_id BIGINT NOT NULL,
    last_name TEXT NOT NULL,
    first_name TEXT NOT NULL,
    birth_date DATE NOT NULL,
    nationality TEXT NOT NULL,
    seat TEXT,
    status TEXT NOT NULL,
    fare_basis TEXT NOT NULL,
    fare_cents BIGINT NOT NULL,
    tax_cents BIGINT NOT NULL,
    currency TEXT NOT NULL,
    agency TEXT,
    frequent_flyer TEXT,
    bags SMALLINT NOT NULL,
    channel TEXT NOT NULL,
    refundable BOOLEAN NOT NULL,
    PRIMARY KEY (record_locator)
);
CREATE TABLE region (
    r_regionkey BIGINT NOT NULL,
    r_name TEXT NOT NULL,
    r_comment TEXT NOT NULL,
    PRIMARY KEY (r_regionkey)
);
CREATE TABLE nation (
    n_nationkey BIGINT NOT NULL,
    n_name TEXT NOT NULL,
    n_regionkey BIGINT NOT NULL,
    n_comment TEXT NOT NULL,
    PRIMARY KEY (n_nationkey)
);
CREATE TABLE supplier (
    s_suppkey BIGINT NOT NULL,
    s_name TEXT NOT NULL,
    s_address TEXT NOT NULL,
    s_nationkey BIGINT NOT NULL,
    s_phone TEXT NOT NULL,
    s_acctbal DECIMAL(15, 2) NOT NULL,
    s_comment TEXT NOT NULL,
    PRIMARY KEY (s_suppkey)
);
CREATE TABLE customer (
    c_custkey BIGINT NOT NULL,
    c_name TEXT NOT NULL,
    c_address TEXT NOT NULL,
    c_nationkey BIGINT NOT NULL,
    c_phone TEXT NOT NULL,
    c_acctbal DECIMAL(15, 2) NOT NULL,
    c_mktsegment TEXT NOT NULL,
    c_comment TEXT NOT NULL,
    PRIMARY KEY (c_custkey)
);
CREATE TABLE part (
    p_partkey BIGINT NOT NULL,
    p_name TEXT NOT NULL,
    p_mfgr TEXT NOT NULL,
    p_brand TEXT NOT NULL,
    p_type TEXT NOT NULL,
    p_size INTEGER NOT NULL,
    p_container TEXT NOT NULL,
    p_retailprice DECIMAL(15, 2) NOT NULL,
    p_comment TEXT NOT NULL,
    PRIMARY KEY (p_partkey)
);
CREATE TABLE partsupp (
    ps_partkey BIGINT NOT NULL,
    ps_suppkey BIGINT NOT NULL,
    ps_availqty INTEGER NOT NULL,
    ps_supplycost DECIMAL(15, 2) NOT NULL,
    ps_comment TEXT NOT NULL,
    PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE TABLE orders (
    o_orderkey BIGINT NOT NULL,
    o_custkey BIGINT NOT NULL,
    o_orderstatus TEXT NOT NULL,
    o_totalprice DECIMAL(15, 2) NOT NULL,
    o_orderdate DATE NOT NULL,
    o_orderpriority TEXT NOT NULL,
    o_clerk TEXT NOT NULL,
    o_shippriority INTEGER NOT NULL,
    o_comment TEXT NOT NULL,
    PRIMARY KEY (o_orderkey)
);
CREATE TABLE lineitem (
    l_orderkey BIGINT NOT NULL,
    l_partkey BIGINT NOT NULL,
    l_suppkey BIGINT NOT NULL,
    l_linenumber INTEGER NOT NULL,
    l_quantity DECIMAL(15, 2) NOT NULL,
    l_extendedprice DECIMAL(15, 2) NOT NULL,
    l_discount DECIMAL(15, 2) NOT NULL,
    l_tax DECIMAL(15, 2) NOT NULL,
    l_returnflag TEXT NOT NULL,
    l_linestatus TEXT NOT NULL,
    l_shipdate DATE NOT NULL,
    l_commitdate DATE NOT NULL,
    l_receiptdate DATE NOT NULL,
    l_shipinstruct TEXT NOT NULL,
    l_shipmode TEXT NOT NULL,
    l_comment TEXT NOT NULL,
    PRIMARY KEY (l_orderkey, l_linenumber)
);
