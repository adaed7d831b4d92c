import { defineFeature } from '../../core/feature.ts'
import { addDoctorCommands } from './commands.ts'

export default defineFeature({
  name: 'doctor',
  commands: addDoctorCommands
})
