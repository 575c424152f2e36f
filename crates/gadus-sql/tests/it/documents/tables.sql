CREATE TABLE d (id INT, j JSON, b JSONB);
INSERT INTO d VALUES (1, '{"b" : 1, "a":[1,2,{"x":null}], "b":2}', '{"b" : 1, "a":[1,2,{"x":null}], "b":2}'), (2, ' [1, "two", 3.50, true, null] ', '[1, "two", 3.50, true, null]'), (3, '"text\u00e9"', '"text\u00e9"'), (4, '{}', '{}'), (5, '[]', '[]'), (6, '1.0', '1.0'), (7, 'null', 'null'), (8, NULL, NULL), (9, '1.00', '1.00'), (10, 'true', 'true'), (11, '{"a": {"b": {"c": "deep"}}, "n": -1e3}', '{"a": {"b": {"c": "deep"}}, "n": -1e3}');
CREATE TABLE p (id INT, name VARCHAR(10), c CHAR(4), n NUMERIC, m NUMERIC(6,2), f DOUBLE PRECISION, day DATE, at TIMESTAMP, tz TIMESTAMPTZ, i INTERVAL, u UUID, y BYTEA, ok BOOLEAN);
INSERT INTO p VALUES (1, 'one', 'ab', 1.500, 12.30, 1e20, '2024-02-29', '2024-03-01 12:34:56.789', '2024-07-01 12:00+00', '1 day 02:03:04', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', decode('00ff', 'hex'), true);
INSERT INTO p VALUES (2, 'q"\', NULL, 'NaN', NULL, 'NaN', 'infinity', '-infinity', '0044-03-15 00:00 BC', '-1 mon', NULL, NULL, false);
INSERT INTO p (id) VALUES (3);
