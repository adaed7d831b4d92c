import type { FastifyInstance } from 'fastify'
import { createSyncEvents } from './events.ts'
import { createNegotiation } from './negotiate.ts'
import { createRuns } from './sessions/server-sessions.ts'
import { createSessions } from './sessions/sessions.ts'

export function createSync (app: FastifyInstance) {
  const publish = createSyncEvents(app)
  return { ...createSessions(app, publish), negotiate: createNegotiation(app, publish), runs: createRuns(app, publish) }
}
