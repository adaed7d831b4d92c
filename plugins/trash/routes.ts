import { contextOf } from '../../core/access/context.ts'
import type { Routes } from '../../core/typebox.ts'
import { BulkResultSchema } from '../firmware/schemas.ts'
import { restoreItems } from './restore-items.ts'
import { EmptySchema, ListTrashQuery, RestoreSchema, TrashPageSchema } from './schemas.ts'

const tags = ['roms']
const WORK_MAX_MS = 120_000
const config = { scopes: ['roms.write'] as const, grant: ['roms', 'delete'] as const }

const routes: Routes = async (app) => {
  app.get('/api/trash', {
    schema: {
      operationId: 'listTrash',
      tags,
      summary: 'List deleted ROMs and files that can be restored, the last deleted first',
      querystring: ListTrashQuery,
      response: { 200: TrashPageSchema }
    },
    config
  }, async (request) => await app.trash.list(contextOf(request), request.query))

  app.post('/api/trash/restore', {
    schema: {
      operationId: 'restoreTrash',
      tags,
      summary: 'Restore ROMs and files to their former folders',
      description: 'Answers 200 also when some could not be restored: existing files of the same name stay. A ROM gets back its id, ' +
        'locked fields, matches, artwork, saves, notes and places in collections.',
      body: RestoreSchema,
      response: { 200: BulkResultSchema }
    },
    config: { ...config, audit: 'trash.restored', databaseMs: WORK_MAX_MS }
  }, async (request) => await restoreItems(app, contextOf(request), request.body.items))

  app.post('/api/trash/empty', {
    schema: {
      operationId: 'emptyTrash',
      tags,
      summary: 'Permanently delete items of the trash',
      description: 'Answers 200 also when some could not be deleted.',
      body: EmptySchema,
      response: { 200: BulkResultSchema }
    },
    config: { ...config, audit: 'trash.emptied', databaseMs: WORK_MAX_MS }
  }, async (request) => await app.trash.empty(contextOf(request), request.body.items ?? null))
}

export default routes
