import { defineFeature } from '../../core/feature.ts'
import { addDoctorCommands } from './commands.ts'

export default defineFeature({
  name: 'doctor',
  needs: ['database', 'workers'],
  commands: addDoctorCommands,
  plugin: () => import('./plugin.ts')
})
