import type { FastifyInstance } from 'fastify'
import { userRoom } from '../../core/sockets/sockets.ts'
import type { InstallRequestView } from './schemas.ts'
import { type InstallRow, toInstallView } from './views.ts'

/** Publishes a request to the open clients of its user. */
export function announceInstall ({ sockets }: FastifyInstance, row: InstallRow): InstallRequestView {
  const view = toInstallView(row)
  sockets.publish(userRoom(row.user_id), 'install:updated', view)
  return view
}
