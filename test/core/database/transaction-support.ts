import fastify from 'fastify'
import type { Test } from 'tap'
import database, { REQUEST_LIMITS } from '../../../core/database/database.ts'
import errorHandler from '../../../core/web/error-handler.ts'
import { features } from '../../../plugins/index.ts'
import { createTestDatabase } from '../../support.ts'

export async function build (t: Test, limits: Partial<typeof REQUEST_LIMITS> = {}) {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(errorHandler)
  const url = await createTestDatabase(t)
  await app.register(database, {
    url, poolSize: 2, ...await features.loadTables(), limits: { ...REQUEST_LIMITS, ...limits }
  })
  await app.pg.query("insert into throttles (key) values ('a'), ('b')")
  return app
}

export const ADD = 'update throttles set count = count + 1 where key = '
