import { contextOf } from '../../core/access/context.ts'
import type { Routes } from '../../core/typebox.ts'
import { BulkResultSchema } from '../firmware/schemas.ts'
import { DeleteRomsSchema } from './schemas.ts'

const DELETE_MAX_MS = 120_000

const routes: Routes = async (app) => {
  app.post('/api/roms/delete', {
    schema: {
      operationId: 'deleteRoms',
      tags: ['roms'],
      summary: 'Delete ROMs from the list, and their files on request',
      description: 'Answers 200 also when some could not be deleted. If its files stay, the next scan adds a ROM again. ' +
        'Files go to the trash of the library, and `restoreTrash` restores them. The files of a library that is not mounted stay, ' +
        'and so do their ROMs: `errors` has the reasons.',
      body: DeleteRomsSchema,
      response: { 200: BulkResultSchema }
    },
    config: { scopes: ['roms.write'], grant: ['roms', 'delete'], audit: 'rom.deleted', databaseMs: DELETE_MAX_MS }
  }, async (request) => await app.deletion.deleteRoms(contextOf(request), request.body))
}

export default routes
