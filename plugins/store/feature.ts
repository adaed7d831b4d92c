import { defineFeature } from '../../core/feature.ts'
import { addStoreCommands } from './commands.ts'

export default defineFeature({
  name: 'store',
  commands: addStoreCommands
})
