import datafusion

opened = {}


def version():
    return {"version": datafusion.__version__}


def open_for_queries(parquet, threads, **_):
    config = datafusion.SessionConfig().with_target_partitions(threads)
    context = datafusion.SessionContext(config)
    context.register_parquet("file", parquet)
    # In memory, which is where it is fastest.
    context.sql("CREATE TABLE bookings AS SELECT * FROM file").collect()
    opened["context"] = context
    return {}


def run(sql):
    batches = opened["context"].sql(sql).collect()
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


serve({"version": version, "open": open_for_queries, **statement_actions(run)})
