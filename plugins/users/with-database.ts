import fastify, { type FastifyInstance } from 'fastify'
import database from '../../core/database/database.ts'
import type { Db } from '../../core/database/db.ts'
import { StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import { createAudit } from '../audit/log.ts'
import { User } from './entities.ts'

/** Runs work on the database without the rest of the server. */
export async function withDatabase (
  features: Features, url: string, work: (app: FastifyInstance) => Promise<void>
): Promise<void> {
  const app = fastify()
  try {
    await app.register(database, { url, poolSize: 1, ...await features.loadTables() })
    app.decorate('audit', createAudit(app))
    await work(app)
  } finally {
    await app.close()
  }
}

/** Finds the account that a command names. @throws StartError */
export async function findUser (db: Db, name: string): Promise<User> {
  const user = await db.em.findOne(User, { username: name.toLowerCase() })
  if (user === null) throw new StartError(`There is no user '${name}'. Check the name, or create a user with svc user add.`)
  return user
}
