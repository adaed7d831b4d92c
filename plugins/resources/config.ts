import { defineSection } from '../../core/config/section.ts'
import { Section, Switch } from '../../core/config/setting.ts'

export const resourcesConfig = defineSection('resources', Section({
  public: Switch('SVC_RESOURCES_PUBLIC', 'Serves artwork and manuals to anyone who knows or guesses an id; for apps ' +
    'that send neither a credential nor the signed addresses')
}, 'Artwork and manuals'))
