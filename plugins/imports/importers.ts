import type { ImporterDefinition } from './contract.ts'
import { gamelistImporter } from './gamelist/importer.ts'
import { rommImporter } from './romm/importer.ts'

/** The programs whose libraries can be imported. Their descriptors load no other code until an import begins. */
export const IMPORTERS: readonly ImporterDefinition[] = [rommImporter, gamelistImporter]
