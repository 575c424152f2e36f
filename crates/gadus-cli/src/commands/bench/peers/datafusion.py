import datafusion

opened = {}


def version():
    return {"version": datafusion.__version__}


def open_for_queries(tables, threads):
    config = datafusion.SessionConfig().with_target_partitions(threads)
    context = datafusion.SessionContext(config)
    for name, parquet in tables.items():
        context.register_parquet("file", parquet)
        # In memory, which is where it is fastest.
        context.sql(f"CREATE TABLE {name} AS SELECT * FROM file").collect()
        context.deregister_table("file")
    opened["context"] = context
    return {}


def run(sql):
    batches = opened["context"].sql(sql).collect()
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


serve({"version": version, "open": open_for_queries, **statement_actions(run)})
