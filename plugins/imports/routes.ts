import { Type } from '@sinclair/typebox'
import { callerOf, requireSignIn } from '../../core/access/auth.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { readSettings } from './config.ts'
import { ImportRequestSchema, ImportRunSchema, ImportStartedSchema, ListedImportSchema } from './schemas.ts'

/** The rights of everything that an import writes. */
const WRITES = ['tasks.run', 'users.write', 'platforms.write', 'roms.write', 'assets.write', 'devices.write', 'collections.write'] as const

const routes: FeatureRoutes = async (app, { config }) => {
  app.post('/api/imports', {
    schema: {
      operationId: 'startImport',
      tags: ['imports'],
      summary: 'Import the library of another program, which the configuration describes',
      description: 'The address and the folders of the source come from the section `imports` of the configuration, ' +
        'so that no request makes the server read other files or connect to other servers.',
      body: ImportRequestSchema,
      response: { 202: ImportStartedSchema }
    },
    config: { scopes: [...WRITES], admin: true, audit: 'task.run' }
  }, async (request, reply) => {
    const caller = callerOf(request)
    // An import creates accounts with passwords, so a token is not enough.
    requireSignIn(caller)
    const { importer, dry_run: isDry = false, user_id: userId = null } = request.body
    const settings = readSettings(config, importer)
    const task = await app.imports.request({ importer, settings, dry_run: isDry, user_id: userId }, caller.id)
    return await reply.code(202).send({ task_id: task.id })
  })

  app.get('/api/imports', {
    schema: {
      operationId: 'listImports',
      tags: ['imports'],
      summary: 'List imports with the counts of their reports, newest first',
      response: { 200: Type.Array(ListedImportSchema) }
    },
    config: { scopes: ['users.read'], admin: true }
  }, async (request) => await app.imports.list(request.db))

  app.get('/api/imports/:id', {
    schema: {
      operationId: 'getImport',
      tags: ['imports'],
      summary: 'Get an import with its report',
      params: Type.Object({ id: Type.String({ format: 'uuid', description: 'The id of its task' }) }),
      response: { 200: ImportRunSchema }
    },
    config: { scopes: ['users.read'], admin: true }
  }, async (request) => await app.imports.get(request.db, request.params.id))
}

export default routes
