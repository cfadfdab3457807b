import { Injectable } from '@nestjs/common';
import { CapabilitiesSearch } from '../catalog/capabilities-search.service.js';
import { ProvidersService } from '../catalog/providers.service.js';
import { SessionManager } from '../connections/session/session-manager.js';
import { ProblemError } from '../errors.js';
import { AgentsService } from '../grants/agents.service.js';
import { GrantsService } from '../grants/grants.service.js';
import { OwnSecrets } from '../own-secrets.js';
import { CallFailure } from './call-failure.js';
import { CallRefusals } from './call-refusals.js';
import { CallService } from './call.service.js';
import { showTools } from './capabilities.js';
import type { CapabilitiesAnswer, MenuAnswer, MenuFailure, ProvidersAnswer } from './menu.answers.js';
import type { MenuCaller } from './menu.caller.js';
import type { MenuToolName } from './menu.definitions.js';
import { MenuPlaces } from './menu.places.js';
import { readCapabilitiesRequest, readProvidersRequest } from './menu.requests.js';
import { Menu } from './menu.js';

const PROVIDERS_A_PAGE = 50;

/** The three tools every agent sees. */
@Injectable()
export class MenuService extends Menu {
  constructor(
    private readonly calls: CallService,
    private readonly agents: AgentsService,
    private readonly grants: GrantsService,
    private readonly providers: ProvidersService,
    private readonly search: CapabilitiesSearch,
    private readonly sessions: SessionManager,
    private readonly refusals: CallRefusals,
    private readonly ownSecrets: OwnSecrets,
    private readonly places: MenuPlaces,
  ) {
    super();
  }

  async use(tool: MenuToolName, args: unknown, caller: MenuCaller): Promise<MenuAnswer> {
    switch (tool) {
      case 'mcp_call':
        return { tool, answer: await this.calls.call(args, caller) };
      case 'mcp_providers':
        return { tool, answer: this.masked(await this.inPlace(caller, () => this.listProviders(args, caller))) };
      case 'mcp_capabilities':
        return { tool, answer: this.masked(await this.inPlace(caller, () => this.findTools(args, caller))) };
    }
  }

  private inPlace<T>({ agentId }: MenuCaller, work: () => Promise<T>): Promise<T | MenuFailure> {
    return asOutcome(async () => {
      const giveBack = this.places.take(agentId);
      try {
        return await work();
      } finally {
        giveBack();
      }
    });
  }

  private async listProviders(args: unknown, { agentId }: MenuCaller): Promise<ProvidersAnswer> {
    const { query, cursor } = readProvidersRequest(args);
    const { visibility } = await this.agents.require(agentId);
    const page = await this.providers.listWithCatalog({
      agentId,
      visibility,
      query,
      limit: PROVIDERS_A_PAGE,
      after: cursor,
    });
    return {
      providers: page.providers.map(({ id, name, transport, catalogToolCount, grantedToolCount }) => ({
        id,
        name,
        transport,
        available: this.sessions.isAvailable(id),
        state: this.sessions.live(id).state,
        catalogToolCount,
        grantedToolCount,
      })),
      total: page.total,
      nextCursor: page.nextCursor,
    };
  }

  private async findTools(args: unknown, { agentId }: MenuCaller): Promise<CapabilitiesAnswer> {
    const { provider: asked, query, cursor, limit } = readCapabilitiesRequest(args);
    const { visibility } = await this.agents.require(agentId);
    const provider = asked === undefined ? undefined : await this.requireProvider(asked, agentId, visibility);
    const page = await this.search.search({ agentId, visibility, providerId: provider?.id, query, cursor, limit });
    const answer: CapabilitiesAnswer = {
      provider: provider === undefined ? null : { id: provider.id, name: provider.name },
      tools: showTools(page.hits, query, (id) => this.sessions.isAvailable(id)),
      totalCount: page.totalCount,
      nextCursor: page.nextCursor,
    };
    return page.totalCount > 0 ? answer : { ...answer, ...(await this.nothingFound(agentId)) };
  }

  private async requireProvider(
    asked: string,
    agentId: string,
    visibility: 'all' | 'granted',
  ): Promise<{ id: string; name: string }> {
    const found = await this.providers.resolve(asked, { agentId, visibility });
    switch (found.kind) {
      case 'none':
        throw await this.refusals.providerNotFound(agentId, asked);
      case 'ambiguous':
        throw this.refusals.ambiguous(found.candidates);
      case 'found':
        if (!found.provider.enabled) throw await this.refusals.providerDisabled(agentId, found.provider, asked);
        return found.provider;
    }
  }

  private async nothingFound(agentId: string): Promise<{ hint: string; grantedProviders: string[] }> {
    const granted = await this.grants.grantedTools(agentId);
    const grantedProviders = [...new Set(granted.map(({ providerId }) => providerId))].slice(0, PROVIDERS_A_PAGE);
    return {
      hint:
        grantedProviders.length === 0
          ? 'Nothing was found, and you hold no grants yet: tell the user that an operator has to grant tools.'
          : 'Nothing was found. Try other words, or look through one of grantedProviders by giving it as provider.',
      grantedProviders,
    };
  }

  private masked<T>(answer: T): T {
    return this.ownSecrets.redactor.json(answer).value as T;
  }
}

/** Failures a model should read become answers of the same form as a failed call. */
async function asOutcome<T>(work: () => Promise<T>): Promise<T | MenuFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CallFailure) return { ok: false, error: error.error };
    if (error instanceof ProblemError && error.code === 'cursor_invalid') {
      const failure = new CallFailure('mcp_arguments_invalid', 'The cursor is not one of this list.', {
        errors: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page of the same request' }],
        hint: 'Leave cursor out to start from the first page.',
      });
      return { ok: false, error: failure.error };
    }
    throw error;
  }
}
