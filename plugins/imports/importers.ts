import type { ImporterDefinition } from './contract.ts'

/** The programs whose libraries can be imported. Their descriptors load no other code until an import begins. */
export const IMPORTERS: readonly ImporterDefinition[] = []
