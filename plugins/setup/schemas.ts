import { type TSchema, Type } from '@sinclair/typebox'
import { Nullable, StringEnum } from '../../core/typebox.ts'
import { SetupCodeSchema } from '../users/schemas.ts'

export const SetupQuery = Type.Object({ setup_code: SetupCodeSchema })

/** @param platform the schema of an item of `GET /api/platforms/supported` */
export const createSetupLibrarySchema = (platform: TSchema) => Type.Object({
  detected_structure: Nullable(StringEnum(['struct_a', 'struct_b'])),
  existing_platforms: Type.Array(Type.Object({ fs_slug: Type.String(), rom_count: Type.Integer() }, { title: 'FoundPlatform' })),
  supported_platforms: Type.Array(platform),
  misplaced_folders: Type.Array(Type.Object({
    library: Type.String({ description: 'Name of a library without platform folders' }),
    roms_folder: Type.String({ description: 'Name of the folder in it that should hold the platform folders' }),
    folders: Type.Array(Type.String(), { description: 'Folders directly in the library, which may be platforms' })
  }, { title: 'MisplacedFolders' }))
}, { title: 'SetupLibrary' })

const PLATFORMS_MAX = 1_000
export const CreatePlatformsSchema = Type.Array(Type.String(), {
  maxItems: PLATFORMS_MAX, description: 'Names of the folders to create'
})
export const CreatedPlatformsSchema = Type.Object({
  success: Type.Boolean(), created_count: Type.Integer(), message: Type.String()
}, { title: 'CreatedPlatforms' })
