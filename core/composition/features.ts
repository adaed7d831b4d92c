import type { Features } from '../app.ts'

/** The features themselves, for those who run the server or work on its database. */
export const loadFeatures = async (): Promise<Features> => (await import('../../plugins/index.ts')).features
