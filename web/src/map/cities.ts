// Large cities for orientation, the most important first. Far from Germany the capitals are enough.
import type { Position } from './view.ts';

export interface City extends Position {
  name: { de: string; en: string };
  /** The zoom from which on it is named. */
  from: number;
}

const lines = `
4|Berlin|52.52|13.40
4|London|51.51|-0.13
4|Paris|48.86|2.35
4|Madrid|40.42|-3.70
4|Rom/Rome|41.90|12.50
4|Warschau/Warsaw|52.23|21.01
4|Wien/Vienna|48.21|16.37
4|Stockholm|59.33|18.07
4|Istanbul|41.01|28.98
4|Kiew/Kyiv|50.45|30.52
4|Athen/Athens|37.98|23.73
4|Lissabon/Lisbon|38.72|-9.14
5|Hamburg|53.55|9.99
5|München/Munich|48.14|11.58
5|Köln/Cologne|50.94|6.96
5|Frankfurt|50.11|8.68
5|Kopenhagen/Copenhagen|55.68|12.57
5|Amsterdam|52.37|4.90
5|Brüssel/Brussels|50.85|4.35
5|Prag/Prague|50.08|14.44
5|Zürich/Zurich|47.38|8.54
5|Budapest|47.50|19.04
5|Bukarest/Bucharest|44.43|26.10
5|Belgrad/Belgrade|44.79|20.45
5|Oslo|59.91|10.75
5|Helsinki|60.17|24.94
5|Dublin|53.35|-6.26
5|Mailand/Milan|45.46|9.19
5|Barcelona|41.39|2.17
5|Minsk|53.90|27.57
5|Sofia|42.70|23.32
5|Riga|56.95|24.11
5|Vilnius|54.69|25.28
5|Tallinn|59.44|24.75
5|Zagreb|45.81|15.98
5|Bern|46.95|7.45
5|Luxemburg/Luxembourg|49.61|6.13
6|Stuttgart|48.78|9.18
6|Leipzig|51.34|12.37
6|Dresden|51.05|13.74
6|Hannover/Hanover|52.37|9.73
6|Nürnberg/Nuremberg|49.45|11.08
6|Bremen|53.08|8.80
6|Düsseldorf|51.23|6.78
6|Dortmund|51.51|7.47
6|Rostock|54.09|12.14
6|Kiel|54.32|10.14
6|Erfurt|50.98|11.03
6|Magdeburg|52.13|11.63
6|Kassel|51.31|9.49
6|Saarbrücken|49.24|7.00
6|Freiburg|48.00|7.84
6|Regensburg|49.02|12.10
6|Salzburg|47.81|13.04
6|Innsbruck|47.27|11.39
6|Graz|47.07|15.44
6|Linz|48.31|14.29
6|Basel|47.56|7.59
6|Genf/Geneva|46.20|6.14
6|Straßburg/Strasbourg|48.57|7.75
6|Lyon|45.76|4.84
6|Marseille|43.30|5.37
6|Toulouse|43.60|1.44
6|Bordeaux|44.84|-0.58
6|Nantes|47.22|-1.55
6|Lille|50.63|3.06
6|Rotterdam|51.92|4.48
6|Antwerpen/Antwerp|51.22|4.40
6|Manchester|53.48|-2.24
6|Edinburgh|55.95|-3.19
6|Göteborg/Gothenburg|57.71|11.97
6|Malmö|55.61|13.00
6|Breslau/Wrocław|51.11|17.04
6|Krakau/Kraków|50.06|19.94
6|Danzig/Gdańsk|54.35|18.65
6|Posen/Poznań|52.41|16.93
6|Stettin/Szczecin|53.43|14.55
6|Brünn/Brno|49.20|16.61
6|Pressburg/Bratislava|48.15|17.11
6|Laibach/Ljubljana|46.06|14.51
6|Turin|45.07|7.69
6|Venedig/Venice|45.44|12.32
6|Florenz/Florence|43.77|11.26
6|Neapel/Naples|40.85|14.27
6|Valencia|39.47|-0.38
6|Sevilla/Seville|37.39|-5.98
6|Porto|41.16|-8.63
7|Essen|51.46|7.01
7|Mannheim|49.49|8.47
7|Karlsruhe|49.01|8.40
7|Augsburg|48.37|10.90
7|Wiesbaden|50.08|8.24
7|Mainz|49.99|8.25
7|Bonn|50.73|7.10
7|Aachen|50.78|6.08
7|Münster|51.96|7.63
7|Bielefeld|52.02|8.53
7|Osnabrück|52.28|8.05
7|Braunschweig|52.27|10.52
7|Lübeck|53.87|10.69
7|Schwerin|53.63|11.41
7|Flensburg|54.79|9.44
7|Bremerhaven|53.55|8.58
7|Oldenburg|53.14|8.21
7|Lüneburg|53.25|10.41
7|Potsdam|52.40|13.07
7|Cottbus|51.76|14.33
7|Chemnitz|50.83|12.92
7|Halle|51.48|11.97
7|Jena|50.93|11.59
7|Göttingen|51.53|9.93
7|Koblenz|50.36|7.59
7|Trier|49.76|6.64
7|Würzburg|49.79|9.94
7|Ulm|48.40|9.99
7|Konstanz|47.66|9.18
7|Passau|48.57|13.46
7|Ingolstadt|48.77|11.42
7|Bamberg|49.89|10.89
7|Heilbronn|49.14|9.22
7|Siegen|50.87|8.02
7|Paderborn|51.72|8.75
7|Neubrandenburg|53.56|13.26
7|Stralsund|54.31|13.08
8|Heidelberg|49.40|8.67
8|Darmstadt|49.87|8.65
8|Wuppertal|51.26|7.15
8|Duisburg|51.43|6.76
8|Bochum|51.48|7.22
8|Mönchengladbach|51.19|6.44
8|Wolfsburg|52.42|10.79
8|Hildesheim|52.15|9.95
8|Gießen|50.58|8.68
8|Fulda|50.55|9.68
8|Cuxhaven|53.87|8.69
8|Ahrensburg|53.67|10.24
8|Stade|53.60|9.47
8|Itzehoe|53.93|9.52
8|Neumünster|54.07|9.98
8|Husum|54.48|9.05
8|Wismar|53.89|11.46
8|Rosenheim|47.86|12.12
8|Kempten|47.73|10.31
8|Landshut|48.54|12.15
8|Bayreuth|49.95|11.58
8|Reutlingen|48.49|9.21
8|Pforzheim|48.89|8.70
8|Offenburg|48.47|7.94
8|Kaiserslautern|49.44|7.77
8|Zwickau|50.72|12.49
8|Görlitz|51.15|14.99
8|Dessau|51.84|12.24
8|Brandenburg|52.41|12.55
8|Frankfurt (Oder)|52.34|14.55
9|Altona|53.55|9.94
9|Harburg|53.46|9.98
9|Bergedorf|53.49|10.21
9|Wandsbek|53.58|10.08
9|Norderstedt|53.70|10.00
9|Pinneberg|53.66|9.80
9|Elmshorn|53.75|9.65
9|Buxtehude|53.48|9.70
9|Winsen|53.36|10.21
9|Reinbek|53.51|10.25
9|Buchholz|53.33|9.87
9|Bad Oldesloe|53.81|10.38
9|Geesthacht|53.43|10.38
`;

export const cities: City[] = lines
  .trim()
  .split('\n')
  .map((line) => {
    const [from, names = '', lat, lng] = line.split('|');
    const [de = '', en = de] = names.split('/');
    return { from: Number(from), name: { de, en }, lat: Number(lat), lng: Number(lng) };
  });

/** About 60 km: places farther away from every city are not near it. */
const nearDegrees = 0.55;

export function nearestCity({ lat, lng }: Position): City | undefined {
  const shrink = Math.cos((lat * Math.PI) / 180);
  let nearest: City | undefined;
  let least = nearDegrees;
  for (const city of cities) {
    const distance = Math.hypot(city.lat - lat, (city.lng - lng) * shrink);
    if (distance < least) [nearest, least] = [city, distance];
  }
  return nearest;
}

export function cityNamed(name: string): City | undefined {
  const folded = name.trim().toLowerCase();
  return cities.find(({ name: { de, en } }) => [de, en].some((form) => form.toLowerCase() === folded));
}
