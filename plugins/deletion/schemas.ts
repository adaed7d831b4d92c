import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, LIMIT_MAX } from '../../core/typebox.ts'

/** A number that some ROM may have. */
const AnyId = Type.Integer({ minimum: -ID_MAX, maximum: ID_MAX, description: 'Id of a ROM' })
const Ids = Type.Array(AnyId, { maxItems: LIMIT_MAX })

export const DeleteRomsSchema = Type.Object({
  roms: Ids,
  delete_from_fs: Type.Optional({
    ...Ids, description: 'Of those, the ones whose files leave the library too: they lie in its trash for TRASH_KEEP_DAYS'
  }),
  permanently: Type.Optional(Type.Boolean({ default: false, description: 'Whether files are deleted at once, past the trash' }))
}, { title: 'DeleteRoms' })
export type DeleteRoms = Static<typeof DeleteRomsSchema>
