import pg from 'pg';

export interface Listening {
  end(): Promise<void>;
}

/**
 * A connection of its own that hears NOTIFY on one channel; `onNotice` gets the payload. `onLost` is called once when it breaks.
 * Errors: those of connecting.
 */
export async function listen(
  url: string,
  channel: string,
  onNotice: (payload: string) => void,
  onLost: () => void,
): Promise<Listening> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'warren listener',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  let ended = false;
  const lost = (): void => {
    if (ended) return;
    ended = true;
    client.end().catch(() => undefined);
    onLost();
  };
  client.on('error', lost);
  client.on('end', lost);
  client.on('notification', ({ payload = '' }) => onNotice(payload));
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    ended = true;
    await client.end().catch(() => undefined);
    throw error;
  }
  return {
    end: async () => {
      ended = true;
      await client.end().catch(() => undefined);
    },
  };
}
