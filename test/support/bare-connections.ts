import type pg from 'pg';

/** Rows of keep_alive connections that nothing stands behind, in place of all that were there. */
export async function replaceConnections(pool: pg.Pool, ids: readonly string[]): Promise<void> {
  await pool.query('truncate providers cascade');
  await pool.query(
    `insert into providers (id, kind, name, name_folded, transport)
     select id, 'connection', id, id, 'stdio' from unnest($1::text[]) as id`,
    [ids],
  );
  await pool.query(
    `insert into connections (id, lifecycle, connect_timeout_ms, call_timeout_ms, max_concurrent_calls,
       max_result_chars, session_scope, max_sessions)
     select id, 'keep_alive', 1, 1, 1, 1000, 'connection', 1 from unnest($1::text[]) as id`,
    [ids],
  );
}
