import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import { holds, isAdministrator } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'
import { DropGames } from './drop-games.tsx'

/** An empty library: explains how to fill it, and takes dropped games from those who may add them. */
export function EmptyLibrary () {
  const { library: { noPlatforms }, setup } = texts()
  return (
    <div class='narrow empty-library'>
      <Empty icon={gamepad} title={noPlatforms.title} text={holds('roms.write') ? noPlatforms.text : setup.emptyForOthers}>
        {isAdministrator() && <LinkButton kind='primary' href='setup'>{setup.title}</LinkButton>}
      </Empty>
      <DropGames />
    </div>
  )
}
