// Words that masked objects are made of.

function list(words: string): readonly string[] {
  return words.split(', ');
}

export const firstNames = list(
  'Anton, Berta, Cem, Dora, Emil, Frieda, Gustav, Hanna, Ida, Jakob, Klara, Lina, Max, Nele, Otto, Paula, Quentin, Rosa, Samir, Tilda, Uwe, Vera, Willi, Xenia, Yara, Zoe',
);

export const lastNames = list(
  'Ahorn, Birke, Buche, Distel, Eibe, Eiche, Erle, Esche, Farn, Fichte, Flieder, Ginster, Hasel, Heide, Holunder, Iris, Kastanie, Kiefer, Klee, Lärche, Linde, Lorbeer, Mohn, Myrte, Palme, Pappel, Rohr, Salbei, Schilf, Tanne, Ulme, Weide',
);

export const companyKinds = list(
  'Hotel, Praxis, Kanzlei, Autohaus, Bürohaus, Klinik, Bibliothek, Brauerei, Sparkasse, Theater, Bäckerei, Werkstatt',
);

export const companyNames = list(
  'Lindenhof, Sonnenblick, Waldeck, Seerose, Bergfried, Morgentau, Sternwarte, Kranich, Silberpappel, Abendrot, Nordlicht, Rosengarten',
);

export const streets = list(
  'Musterweg, Beispielallee, Probestraße, Testgasse, Am Versuchsgarten, Musterplatz, Beispielufer, Probedamm, Testring, Musterstieg',
);

export const siteNames = list(
  'Empfang, Foyer, Kantine, Büro, Lichthof, Besprechung, Wintergarten, Treppenhaus, Terrasse, Ausstellung',
);

export const personRoles = list('Empfang, Einkauf, Haustechnik, Leitung, Verwaltung, Buchhaltung');
export const buildings = list('Haus 1, Haus 2, Haus 3, Haupthaus, Nebengebäude');
export const floors = list('UG, EG, 1. OG, 2. OG, 3. OG');
