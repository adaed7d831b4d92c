import { contextOf } from '../../core/access/context.ts'
import { ErrorSchema, type Routes } from '../../core/typebox.ts'
import { ListRoomsQuery, RoomListSchema } from './schemas.ts'

const routes: Routes = async (app) => {
  app.get('/api/netplay/list', {
    schema: {
      operationId: 'listNetplayRooms',
      tags: ['netplay'],
      summary: 'List rooms of a game with a free place',
      description: 'Players open and join rooms on the socket endpoint `/netplay/socket.io`.',
      querystring: ListRoomsQuery,
      response: { 200: RoomListSchema, 404: ErrorSchema }
    },
    config: { scopes: ['roms.read'], orScopes: ['assets.read'] }
  }, async (request) => app.netplay.list(contextOf(request), request.query.game_id))
}

export default routes
