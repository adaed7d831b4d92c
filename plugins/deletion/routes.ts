import { callerOf } from '../../core/access/auth.ts'
import type { Routes } from '../../core/typebox.ts'
import { BulkResultSchema } from '../firmware/schemas.ts'
import { DeleteRomsSchema } from './schemas.ts'

const DELETE_MAX_MS = 120_000

const routes: Routes = async (app) => {
  app.post('/api/roms/delete', {
    schema: {
      operationId: 'deleteRoms',
      tags: ['roms'],
      summary: 'Take ROMs out of the list, with their files where that is asked for',
      description: 'Answers 200 also when some could not be deleted. Without its files, a ROM is there again after the next scan. ' +
        'Files go to the trash of the library, from where `restoreTrash` brings them back. The files of a library that is not mounted stay, ' +
        'and so do their ROMs: `errors` says why.',
      body: DeleteRomsSchema,
      response: { 200: BulkResultSchema }
    },
    config: { scopes: ['roms.write'], grant: ['roms', 'delete'], audit: 'rom.deleted', databaseMs: DELETE_MAX_MS }
  }, async (request) => await app.deletion.deleteRoms(request.em, callerOf(request), request.body))
}

export default routes
