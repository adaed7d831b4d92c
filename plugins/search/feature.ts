import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'search',
  needs: ['database', 'auth-core', 'jobs', 'loader', 'circuits', 'permissions', 'platforms', 'roms'],
  tags: { search: 'Games and covers from metadata providers, for a person to choose from' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
