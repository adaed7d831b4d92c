import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { checkOwnOrAdmin } from './admins.ts'
import { User } from './entities.ts'

/**
 * Brings a user's progress at RetroAchievements up to date.
 *
 * @throws ApiError FORBIDDEN, NOT_FOUND without a name there, UNAVAILABLE while no provider can ask for it.
 */
export async function refreshAchievements (
  app: FastifyInstance, em: EntityManager, caller: Caller, id: number
): Promise<never> {
  checkOwnOrAdmin(caller, id)
  const user = await em.findOne(User, { id })
  if (user === null) throw notFound(`User with ID '${id}' not found`)
  if ((user.ra_username ?? '') === '') throw notFound(`User '${user.username}' has no RetroAchievements name; set ra_username`)
  throw new ApiError('UNAVAILABLE', app.registry.providers.has('ra')
    ? "The active RetroAchievements provider does not read users' progress; update it"
    : 'No RetroAchievements provider is active; install and configure one to read progress')
}
