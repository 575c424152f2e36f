// A program that uses node-postgres; the address is its argument.
"use strict";
const assert = require("node:assert");
const { Client, Pool } = require("pg");

async function main(connectionString) {
  const client = new Client({ connectionString, application_name: "smoke" });
  await client.connect();
  await client.query(
    "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price DECIMAL(8, 2), ok BOOLEAN, data BYTEA, at TIMESTAMPTZ)",
  );
  const at = new Date("2024-01-02T03:04:05.678Z");
  const values = [1, "grün\n", "1.50", true, Buffer.from([0, 255]), at];
  const inserted = await client.query("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)", values);
  assert.strictEqual(inserted.rowCount, 1);
  await client.query("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)", [2, null, null, null, null, null]);
  const { rows, fields } = await client.query("SELECT * FROM t ORDER BY id");
  assert.deepStrictEqual(Object.values(rows[0]), values);
  assert.deepStrictEqual(Object.values(rows[1]).slice(1), [null, null, null, null, null]);
  assert.strictEqual(fields[0].dataTypeID, 23);
  for (let id = 1; id <= 2; id++) {
    const named = { name: "by id", text: "SELECT id FROM t WHERE id = $1", values: [id] };
    assert.deepStrictEqual((await client.query(named)).rows, [{ id }]);
  }
  for (const [column, list] of [["id", [1, 2, 9, null]], ["coalesce(name, '')", ["grün\n", '"', ""]]]) {
    const found = await client.query(`SELECT id FROM t WHERE ${column} = ANY($1) ORDER BY id`, [list]);
    assert.deepStrictEqual(found.rows, [{ id: 1 }, { id: 2 }]);
  }
  await assert.rejects(client.query("INSERT INTO t (id) VALUES (1)"), { code: "23505" });
  await assert.rejects(client.query("SELECT * FROM nowhere"), { code: "42P01" });
  await client.query("BEGIN");
  await client.query("DELETE FROM t");
  await client.query("ROLLBACK");
  const several = await client.query("SELECT 1 AS a; SELECT 2 AS b");
  assert.deepStrictEqual(several.map((result) => result.rows[0]), [{ a: 1 }, { b: 2 }]);
  await client.end();

  const pool = new Pool({ connectionString, max: 20 });
  const numbers = [...Array(200).keys()];
  const asked = numbers.map((n) => pool.query("SELECT $1::INT + 1 AS n", [n]));
  const answers = (await Promise.all(asked)).map((result) => Number(result.rows[0].n));
  assert.deepStrictEqual(answers, numbers.map((n) => n + 1));
  await pool.end();
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
