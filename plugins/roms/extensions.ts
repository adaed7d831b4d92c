import type { RomProviders } from './providers.ts'
import type { UserFiles } from './user-files.ts'

/** The parts of a ROM that plugins and the features above this one add. */
export interface RomExtensions {
  providers: RomProviders
  userFiles: UserFiles
}
