import type { FastifyInstance } from 'fastify'
import { deleteRow } from '../../core/database/delete-row.ts'
import type { Context } from '../../core/access/context.ts'
import { createApprise } from './host/apprise.ts'
import type { Calls } from './host/calls.ts'
import { createChanges } from './change/change-channel.ts'
import { createCodes } from './change/codes.ts'
import { createConfirmations } from './change/confirm-channel.ts'
import { NotificationChannel } from './entities.ts'
import { findChannel } from './change/find-channel.ts'
import { createSamples } from './change/send-sample.ts'

const listChannels = ({ db, caller }: Context): Promise<NotificationChannel[]> =>
  db.em.find(NotificationChannel, { user: caller.id }, { orderBy: { id: 'asc' } })

async function deleteChannel (context: Context, id: number): Promise<void> {
  const row = await findChannel(context, id)
  await deleteRow(context.db, NotificationChannel, row.id, `Channel '${row.name}'`)
}

/** Creates the service of users' channels. */
export function createChannels (app: FastifyInstance, calls: Calls) {
  const codes = createCodes(app, calls)
  return {
    list: listChannels,
    delete: deleteChannel,
    ...createChanges({ app, calls, codes }),
    ...createConfirmations(app, codes),
    ...createSamples(app, calls),
    ...createApprise(app, calls)
  }
}
export type Channels = ReturnType<typeof createChannels>
