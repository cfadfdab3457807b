/** A small client of Warren's own REST API. */
export class OperatorClient {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  post<T>(path: string, body: unknown): Promise<T> {
    return this.send('POST', path, body) as Promise<T>;
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.send('PATCH', path, body) as Promise<T>;
  }

  /** Creates the thing of this id, or brings the one that is there to the same settings. */
  async put(collection: string, id: string, settings: Record<string, unknown>): Promise<{ id: string }> {
    try {
      return await this.post(collection, { id, ...settings });
    } catch (error) {
      if (!(error instanceof OperatorError) || error.status !== 409) throw error;
      const { transport: _, ...changeable } = settings;
      return this.patch(`${collection}/${encodeURIComponent(id)}`, changeable);
    }
  }

  private async send(method: string, path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new OperatorError(response.status, answer);
    return answer;
  }
}

/** The API refused; the message is the problem's own words. */
export class OperatorError extends Error {
  constructor(
    readonly status: number,
    problem: unknown,
  ) {
    const detail =
      typeof problem === 'object' && problem !== null && 'detail' in problem ? String(problem.detail) : 'no detail';
    super(`Warren answered ${status}: ${detail}`);
    this.name = 'OperatorError';
  }
}
