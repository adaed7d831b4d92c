import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { accountOf } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { Game } from '../../ui/game.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'

const SHOWN = 20

/** The start page. */
export default function Home () {
  const { home, library } = texts()
  useTitle(home.title)
  const recent = useResource('home recent', (signal) => call(api.GET('/api/roms', {
    params: {
      query: {
        limit: SHOWN, order_by: 'created_at', order_dir: 'desc',
        with_total: false, with_char_index: false, with_filter_values: false, with_rom_id_index: false
      }
    },
    signal
  })), { 'scan:update_stats': true, 'scan:done': true, 'rom:updated': true })
  return (
    <div class='home'>
      <h1>{home.greeting(accountOf()?.username ?? '')}</h1>
      <section>
        <div class='shelf-head'><h2>{home.recent}</h2><a href='roms?order=created_at'>{home.all}</a></div>
        <Loaded resource={recent} skeleton={<Skeleton height='16rem' />}>
          {({ items }) => items.length === 0
            ? <Empty icon={gamepad} title={library.noPlatforms.title} text={library.noPlatforms.text} />
            : <div class='shelf'>{items.map((rom) => <Game key={rom.id} rom={rom} />)}</div>}
        </Loaded>
      </section>
    </div>
  )
}
