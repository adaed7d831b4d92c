import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, LIMIT_MAX } from '../../core/typebox.ts'

/** The schema of an id, of any number that a ROM may have. */
const AnyId = Type.Integer({ minimum: -ID_MAX, maximum: ID_MAX, description: 'Id of a ROM' })
const Ids = Type.Array(AnyId, { maxItems: LIMIT_MAX })

export const DeleteRomsSchema = Type.Object({
  roms: Ids,
  delete_from_fs: Type.Optional({
    ...Ids, description: 'Ids of `roms` whose files are deleted too; the files stay in the trash of the library for TRASH_KEEP_DAYS'
  }),
  permanently: Type.Optional(Type.Boolean({ default: false, description: 'Deletes files at once, without the trash' }))
}, { title: 'DeleteRoms' })
export type DeleteRoms = Static<typeof DeleteRomsSchema>
