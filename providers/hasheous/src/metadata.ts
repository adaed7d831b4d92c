import { type Static, Type } from '@svc/plugin-sdk'

/** The catalogues that list the files: the stored `hasheous_metadata` of a match. */
export const MetadataSchema = Type.Object({
  tosec_match: Type.Boolean(),
  mame_arcade_match: Type.Boolean(),
  mame_mess_match: Type.Boolean(),
  nointro_match: Type.Boolean(),
  redump_match: Type.Boolean(),
  mame_redump_match: Type.Boolean(),
  whdload_match: Type.Boolean(),
  ra_match: Type.Boolean(),
  fbneo_match: Type.Boolean(),
  puredos_match: Type.Boolean()
})
export type Metadata = Static<typeof MetadataSchema>
