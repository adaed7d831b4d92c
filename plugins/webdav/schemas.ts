import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Id, Nullable } from '../../core/typebox.ts'

const CandidateSchema = Type.Object({ rom_id: Type.Integer(), rom_name: Type.String(), platform_fs_slug: Type.String() }, { title: 'WebdavCandidate' })

export const WebdavFileSchema = Type.Object({
  id: Type.Integer(),
  path: Type.String({ description: 'The path on the devices, below the folder of the sync' }),
  kind: Nullable(Type.String({ description: 'save, state or screenshot; null for a file of no game' })),
  asset_id: Nullable(Type.Integer({ description: 'Id of the save, state or screenshot' })),
  rom_id: Nullable(Type.Integer({ description: 'Null while the game is unknown' })),
  file_size_bytes: Type.Integer(),
  is_deleted: Type.Boolean(),
  updated_at: DateTime
}, { title: 'WebdavFile' })
export type WebdavFileView = Static<typeof WebdavFileSchema>

export const UnassignedFileSchema = Type.Object({
  ...WebdavFileSchema.properties,
  candidates: Type.Array(CandidateSchema, { description: 'Games whose name fits; empty if none does' })
}, { title: 'UnassignedWebdavFile' })
export type UnassignedFileView = Static<typeof UnassignedFileSchema>

export const AssignBody = Type.Object({ rom_id: Id }, { title: 'AssignWebdavFile' })
