// What grows in offices and lobbies: botanical name, German name, and how high it usually stands there.
export interface Species {
  botanicalName: string;
  commonName: string;
  heightInCm: readonly [lowest: number, highest: number];
}

function species(botanicalName: string, commonName: string, lowest: number, highest: number): Species {
  return { botanicalName, commonName, heightInCm: [lowest, highest] };
}

export const indoorSpecies: readonly Species[] = [
  species('Aglaonema commutatum', 'Kolbenfaden', 40, 80),
  species('Alocasia macrorrhizos', 'Riesenblättriges Pfeilblatt', 90, 180),
  species('Anthurium andraeanum', 'Große Flamingoblume', 40, 80),
  species('Araucaria heterophylla', 'Zimmertanne', 80, 200),
  species('Asparagus setaceus', 'Federspargel', 30, 60),
  species('Aspidistra elatior', 'Schusterpalme', 50, 90),
  species('Asplenium nidus', 'Nestfarn', 40, 90),
  species('Beaucarnea recurvata', 'Elefantenfuß', 60, 180),
  species('Calathea orbifolia', 'Rundblättrige Korbmarante', 40, 90),
  species('Chamaedorea elegans', 'Bergpalme', 50, 120),
  species('Chlorophytum comosum', 'Grünlilie', 25, 50),
  species('Clusia rosea', 'Balsamapfel', 80, 180),
  species('Codiaeum variegatum', 'Wunderstrauch', 50, 120),
  species('Crassula ovata', 'Geldbaum', 30, 90),
  species('Cycas revoluta', 'Japanischer Palmfarn', 60, 130),
  species('Cyperus alternifolius', 'Zyperngras', 60, 140),
  species('Dieffenbachia seguine', 'Dieffenbachie', 60, 150),
  species('Dracaena fragrans ‘Massangeana’', 'Duftender Drachenbaum', 100, 220),
  species('Dracaena marginata', 'Gerandeter Drachenbaum', 90, 240),
  species('Dracaena reflexa ‘Song of India’', 'Gebogener Drachenbaum', 70, 160),
  species('Dracaena trifasciata', 'Bogenhanf', 40, 110),
  species('Dypsis lutescens', 'Goldfruchtpalme', 120, 260),
  species('Epipremnum aureum', 'Efeutute', 30, 180),
  species('Fatsia japonica', 'Zimmeraralie', 60, 150),
  species('Ficus benjamina', 'Birkenfeige', 120, 300),
  species('Ficus binnendijkii ‘Alii’', 'Schmalblättriger Gummibaum', 120, 260),
  species('Ficus elastica', 'Gummibaum', 90, 240),
  species('Ficus lyrata', 'Geigenfeige', 100, 260),
  species('Goeppertia makoyana', 'Pfauen-Korbmarante', 40, 70),
  species('Hedera helix', 'Gemeiner Efeu', 20, 80),
  species('Howea forsteriana', 'Kentiapalme', 120, 320),
  species('Maranta leuconeura', 'Pfeilwurz', 20, 40),
  species('Monstera deliciosa', 'Köstliches Fensterblatt', 80, 220),
  species('Nephrolepis exaltata', 'Schwertfarn', 40, 80),
  species('Pachira aquatica', 'Glückskastanie', 100, 220),
  species('Peperomia obtusifolia', 'Fleischige Peperomie', 20, 35),
  species('Philodendron scandens', 'Kletternder Philodendron', 30, 160),
  species('Phoenix roebelenii', 'Zwerg-Dattelpalme', 90, 200),
  species('Platycerium bifurcatum', 'Geweihfarn', 40, 70),
  species('Polyscias fruticosa', 'Ming-Aralie', 80, 170),
  species('Rhapis excelsa', 'Steckenpalme', 100, 230),
  species('Schefflera arboricola', 'Strahlenaralie', 80, 220),
  species('Spathiphyllum wallisii', 'Einblatt', 40, 100),
  species('Strelitzia nicolai', 'Baumstrelitzie', 140, 320),
  species('Syngonium podophyllum', 'Purpurtute', 25, 60),
  species('Tradescantia spathacea', 'Purpurblättrige Dreimasterblume', 25, 45),
  species('Yucca elephantipes', 'Riesen-Palmlilie', 100, 260),
  species('Zamioculcas zamiifolia', 'Glücksfeder', 50, 110),
];

/** For terraces, courtyards and gardens. */
export const outdoorSpecies: readonly Species[] = [
  species('Acer palmatum ‘Dissectum’', 'Japanischer Schlitzahorn', 70, 160),
  species('Buxus sempervirens', 'Gewöhnlicher Buchsbaum', 40, 110),
  species('Carpinus betulus ‘Fastigiata’', 'Säulenhainbuche', 180, 350),
  species('Fargesia murielae', 'Gartenbambus', 120, 250),
  species('Hydrangea macrophylla', 'Gartenhortensie', 50, 120),
  species('Ilex crenata', 'Japanische Stechpalme', 50, 120),
  species('Lavandula angustifolia', 'Echter Lavendel', 30, 60),
  species('Laurus nobilis', 'Echter Lorbeer', 100, 200),
  species('Miscanthus sinensis', 'Chinaschilf', 100, 200),
  species('Nerium oleander', 'Oleander', 90, 200),
  species('Olea europaea', 'Olivenbaum', 120, 260),
  species('Pinus mugo', 'Bergkiefer', 50, 110),
  species('Taxus baccata', 'Europäische Eibe', 80, 200),
  species('Trachycarpus fortunei', 'Chinesische Hanfpalme', 120, 300),
];
