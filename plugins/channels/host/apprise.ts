import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import { badRequest } from '../../../core/errors.ts'
import type { Calls } from './calls.ts'
import { findPlugin } from './channel-plugins.ts'
import { type AppriseService, AppriseServiceSchema, type Parsed, ParsedSchema } from '../schemas.ts'

const APPRISE = 'apprise'

/** Creates the list of Apprise's services, and the parser of their URLs. */
export function createApprise (app: FastifyInstance, calls: Calls) {
  return {
    /** @throws ApiError BAD_REQUEST with the message of the plugin. */
    async listServices (caller: Caller): Promise<AppriseService[]> {
      findPlugin(app.registry, APPRISE)
      const services = await calls.services(caller.id, APPRISE)
      return services.filter((one): one is AppriseService => Value.Check(AppriseServiceSchema, one))
    },

    /** @throws ApiError BAD_REQUEST for a URL that no service has. */
    async parse (caller: Caller, url: string): Promise<Parsed> {
      findPlugin(app.registry, APPRISE)
      const parsed = await calls.parse(caller.id, APPRISE, url)
      if (!Value.Check(ParsedSchema, parsed)) {
        throw badRequest('No available service has a URL of this form; compare it with the URLs of the service')
      }
      return parsed
    }
  }
}
