/** What the API answered. */
export interface ApiAnswer<T = any> {
  status: number;
  headers: Headers;
  body: T;
}

/** A plain client of the REST API, with one token. */
export class Api {
  constructor(
    readonly url: string,
    readonly token: string | undefined,
  ) {}

  as(token: string | undefined): Api {
    return new Api(this.url, token);
  }

  get<T = any>(path: string, headers: Record<string, string> = {}): Promise<ApiAnswer<T>> {
    return this.send('GET', path, undefined, headers);
  }

  post<T = any>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<ApiAnswer<T>> {
    return this.send('POST', path, body, headers);
  }

  patch<T = any>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer<T>> {
    return this.send('PATCH', path, body, headers);
  }

  put<T = any>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer<T>> {
    return this.send('PUT', path, body, headers);
  }

  delete<T = any>(path: string, headers: Record<string, string> = {}): Promise<ApiAnswer<T>> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** Like the others, but fails unless the answer has this status. */
  async expect<T = any>(status: number, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send<T>(method, path, body, {});
    if (answer.status !== status) {
      throw new Error(`${method} ${path} answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  async send<T = any>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiAnswer<T>> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: {
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    };
  }
}
