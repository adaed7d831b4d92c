import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'doctor',
  needs: ['database', 'workers'],
  commands: async () => (await import('./commands.ts')).addDoctorCommands,
  plugin: () => import('./plugin.ts')
})
