import refresh from 'lucide/dist/esm/icons/refresh-cw.mjs'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'

/** The page in place of one whose script could not be loaded, such as after an upgrade of the server. */
export function Outdated () {
  const { outdated } = texts().errors
  useTitle(outdated.title)
  return (
    <Empty isPage icon={refresh} title={outdated.title} text={outdated.text}>
      <Button kind='primary' onClick={() => { location.reload() }}>{outdated.action}</Button>
    </Empty>
  )
}
