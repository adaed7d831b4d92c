import type { Features } from '../app.ts'

/** Loads the features, for processes that run the server or work on its database. */
export const loadFeatures = async (): Promise<Features> => (await import('../../plugins/index.ts')).features
