import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'store',
  commands: async () => (await import('./commands.ts')).addStoreCommands
})
