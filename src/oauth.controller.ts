import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ProblemError } from './errors.js';
import { OauthService } from './oauth.service.js';
import { Route } from './route.decorator.js';

const metadataSchema = {
  type: 'object',
  required: ['resource', 'authorization_servers', 'bearer_methods_supported', 'resource_name'],
  properties: {
    resource: { type: 'string' },
    authorization_servers: { type: 'array', items: { type: 'string' } },
    bearer_methods_supported: { type: 'array', items: { type: 'string', enum: ['header'] } },
    resource_name: { type: 'string' },
  },
};

const documented = {
  access: 'public',
  summary: 'Who issues tokens for `/mcp` (RFC 9728)',
  description: 'Only where OAuth is configured.',
  answerSchema: metadataSchema,
  problems: ['route_not_found'],
} as const;

@ApiTags('Menu over MCP')
@Controller('.well-known/oauth-protected-resource')
export class OauthController {
  constructor(private readonly oauth: OauthService) {}

  @Get()
  @Route(documented)
  server(): unknown {
    return this.metadata();
  }

  @Get('mcp')
  @Route(documented)
  mcp(): unknown {
    return this.metadata();
  }

  private metadata(): unknown {
    const { settings } = this.oauth;
    if (settings === undefined) throw new ProblemError('route_not_found', 'OAuth is not configured here.');
    return {
      resource: settings.audience,
      authorization_servers: [settings.issuer],
      bearer_methods_supported: ['header'],
      resource_name: 'Warren',
    };
  }
}
